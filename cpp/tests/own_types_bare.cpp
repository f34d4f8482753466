#include "own_types_test.cpp"
