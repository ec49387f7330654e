// Package unseen takes out of a text what a person who looks at it does not see, or sees as something else than it is: control
// characters, escape sequences of terminals, directions, characters of no width, tags. A model reads all of these, so they
// carry what its user can't check.
//
// It hides the table of these characters, the few places in which one of them is part of a word or of a picture, and how an
// escape sequence ends. Documents and answers are cleaned by the same table.
//
// The one rule: what is clean is given back as it is, without a copy, and cleaning it again changes nothing.
package unseen
