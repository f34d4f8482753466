// The part of a program that throws, while the rest is compiled without exceptions.
#include <exception>
#include <stdexcept>

std::exception_ptr thrown_elsewhere(const char* text) {
    return std::make_exception_ptr(std::runtime_error(text));
}
