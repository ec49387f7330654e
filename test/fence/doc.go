// Package fence holds no code, only the tests that keep the layout: which packages of the project import each other, which third-party
// modules each of them may import, and what may stand at the top level.
//
// It hides how imports are listed and how the page on the packages is written: packages.txt is the one source of both. The one rule: a new
// arrow, import or top-level entry is a design change, so write an ADR first and then a line in packages.txt.
package fence
