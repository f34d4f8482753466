#include "bind_test.cpp"
