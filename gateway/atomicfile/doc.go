// Package atomicfile replaces files as a whole. It hides the temporary file, and what is left of it after a failure.
//
// The rule that must not be broken: whoever reads the path finds the old content or the new one, also after the machine has
// failed, and with no other rights than those of the program's user.
package atomicfile
