#pragma once

// Included first by the headers that programs begin with, so that an older standard gives one clear
// message.
#if __cplusplus < 202002L
#error "libooc needs C++20: compile with -std=c++20 or a later standard"
#endif
