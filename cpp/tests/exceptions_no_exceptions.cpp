#include "exceptions_test.cpp"
