// Package charset converts text from the charsets of the web to UTF-8, and from UTF-8 to those of the IANA registry.
//
// It hides the list of charsets, their names, and the declarations of XML and HTML.
//
// The rule that must not be broken: decoded text is valid UTF-8, and no byte is dropped silently, whatever the label;
// encoded text is decoded to the same text.
package charset
