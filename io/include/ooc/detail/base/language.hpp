#pragma once

// Public headers include this first, so that an older C++ standard gives one clear message.
#if __cplusplus < 202002L
#error "libooc needs C++20: compile with -std=c++20 or a later standard"
#endif
