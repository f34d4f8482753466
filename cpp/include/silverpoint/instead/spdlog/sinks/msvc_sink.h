// Stands where spdlog has its header of this name: it is for another system, and has nothing here either.
#pragma once
