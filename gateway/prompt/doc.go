// Package prompt serves the prompts of the configuration and completes their arguments and those of resource templates.
//
// The rule that must not be broken: everything that a prompt needs is authorized before anything of it is called, and a
// failed call fails the whole prompt, since a model must not take its text for the user's words.
package prompt
