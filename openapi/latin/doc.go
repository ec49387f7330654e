// Package latin transliterates texts in other scripts into ASCII letters, for names of tools, arguments and APIs. The one rule:
// a name must not change with a release, so a new version of a table is a change that users are told of.
package latin
