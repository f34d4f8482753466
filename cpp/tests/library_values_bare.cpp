#include "library_values_test.cpp"
