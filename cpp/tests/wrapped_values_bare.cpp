#include "wrapped_values_test.cpp"
