// Package filesd finds services in files, in the format of Prometheus' file_sd.
//
// It hides how changes of files are noticed. The rule that must not be broken: a file that can't be read, such as one that is
// half written, leaves the services that it had.
package filesd
