// The same without optimisation.
#include "listed_test.cpp"
