# Builds the C++ tests for AArch64 and runs them in an emulator (Debian: g++-aarch64-linux-gnu, qemu-user):
#   cmake -S . -B build/aarch64 -DSILVERPOINT_TESTS=ON -DCMAKE_TOOLCHAIN_FILE=cpp/aarch64.cmake
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
