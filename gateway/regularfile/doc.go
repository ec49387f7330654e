// Package regularfile opens files that others may have replaced: the record, the kept documents and the seal key stand in a
// directory whose contents the gateway doesn't trust.
//
// The one rule: what is opened is a regular file, reached by no symbolic link, and opening it waits for nobody, such as the other
// end of a named pipe.
package regularfile
