#include "c_rewritten_test.cpp"
