// The second translation unit of `life`.
#include <silverpoint/silverpoint.hpp>

void record_in_part() { SP_INFO("part"); }
