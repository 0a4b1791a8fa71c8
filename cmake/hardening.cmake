# Options that end the program on memory errors instead of letting them be exploited, from OpenSSF's
# compiler options guide. They apply to all targets of the project, but not to users of the
# installed package.

if(NOT OOC_SANITIZE)
  include(CheckPIESupported)
  check_pie_supported()  # so that CMAKE_POSITION_INDEPENDENT_CODE also adds -pie
endif()

set(hardening -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
# nvcc passes them to the host compiler.
list(TRANSFORM hardening PREPEND -Xcompiler= OUTPUT_VARIABLE hardening_of_cuda)
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${hardening}>"
                    "$<$<COMPILE_LANGUAGE:CUDA>:${hardening_of_cuda}>")
add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)

# _FORTIFY_SOURCE needs optimisation, and hides errors from sanitizers. The assertions of the
# standard library cost `reduce` a quarter more CPU time, so only debug and sanitizer builds have
# them.
set(checked_calls -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
set(assertions -D_GLIBCXX_ASSERTIONS)
set(searching $<CONFIG:Debug>)
if(OOC_SANITIZE)
  set(searching 1)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:$<IF:${searching},${assertions},${checked_calls}>>")
