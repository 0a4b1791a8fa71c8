#pragma once

// The version of the project. CMakeLists.txt and python/pyproject.toml read it here.

/// The first number of the version of these headers.
#define OOC_VERSION_MAJOR 0
/// The second number of the version of these headers.
#define OOC_VERSION_MINOR 3
/// The third number of the version of these headers.
#define OOC_VERSION_PATCH 0
