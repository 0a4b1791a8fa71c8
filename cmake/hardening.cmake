# What makes a mistake in memory end the program instead of serving an attacker, after OpenSSF's
# compiler options guide. It holds for the targets of this directory and those beneath; the
# installed package asks its users for none of it.

include(CheckPIESupported)
check_pie_supported()  # CMAKE_POSITION_INDEPENDENT_CODE holds for linking programs too

set(hardening -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
# nvcc does not know them, but the compiler that it calls for the host's half does.
list(TRANSFORM hardening PREPEND -Xcompiler= OUTPUT_VARIABLE hardening_of_cuda)
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${hardening}>"
                    "$<$<COMPILE_LANGUAGE:CUDA>:${hardening_of_cuda}>")
add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)

# Checked calls of the C library need an optimiser, and hide mistakes from sanitizers. The standard
# library's assertions take `reduce` a quarter more processor time, so they are for those who look
# for mistakes.
set(checked_calls -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
set(assertions -D_GLIBCXX_ASSERTIONS)
set(searching $<CONFIG:Debug>)
if(OOC_SANITIZE)
  set(searching 1)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:$<IF:${searching},${assertions},${checked_calls}>>")
