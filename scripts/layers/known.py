"""Larger circles of files that are allowed until they are untied: a file of each, with the number of files that it has."""

KNOWN = {
}
