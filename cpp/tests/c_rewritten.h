#pragma once
#ifdef __cplusplus
extern "C" {
#endif
void c_error(int error);
void c_error_of_call(int error, const char* path);
void c_error_formatted(int error, int width);
void c_error_kept(int error, int* after);
void c_letters(void);
void c_numbered(const char* name, int count);
void c_numbered_amounts(const char* unterminated, int width, int precision, double value);
void c_numbered_types(void* pointer);
void c_numbered_with_error(int error);
void c_numbered_in_turn(int i);
void c_without_room(int error, int i);
#ifdef __cplusplus
}
#endif
