// Package tokenizer counts the tokens that a text uses in a model's context, in the encoding o200k_base, which the
// models of OpenAI since GPT-4o use. Models of others have vocabularies of their own, so that the figures are exact for
// some models and close for the rest.
//
// It hides the library, its vocabulary of 200,000 tokens, which is loaded at the first count, and the cache of short
// pieces that makes counting many similar texts fast. All functions are safe for concurrent use.
//
// Counts are those of tiktoken, with one exception: the library splits a run of white space after each line, where
// tiktoken splits it after the last one, so that a blank line with spaces in it may cost a token more.
//
// The rule that must not be broken: the time and memory of a count are linear in the length of the text, whatever the
// text, and nothing that is kept grows with the texts that were counted.
package tokenizer
