#pragma once

/// Exports a class or function of the installed headers from the shared library, which hides all
/// other symbols.
#define OOC_API __attribute__((visibility("default")))
