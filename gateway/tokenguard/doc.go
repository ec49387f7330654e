// Package tokenguard makes the token guard of a configuration. It hides how the section auth, with the files that it
// names, and what other sections need of tokens become the options of [auth.New].
//
// The rule that must not be broken: settings that are equal give the same guard, and a guard that replaces another takes
// over only keys that came from the same issuer through the same certificate authorities.
package tokenguard
