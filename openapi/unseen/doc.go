// Package unseen removes from a text the characters that a person does not see, or sees as something else: control
// characters, escape sequences of terminals, directions, characters of no width, tags. A model reads all of these, so
// they can carry content that its user can't check.
//
// It hides the table of these characters, the few contexts in which one of them is part of a word or of an emoji, and
// the ends of escape sequences. Documents and responses are cleaned by the same table.
//
// The rule that must not be broken: clean text is returned unchanged, without a copy, and cleaning is idempotent.
package unseen
