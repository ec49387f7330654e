// Command rehearsal installs each kind of file of a release as its users do, from a server on loopback, each in a clean root or prefix, runs
// the version and the demo of the program that was installed, and prints a table. It also offers install.sh files that were changed.
//
// It hides what registries answer: the metadata of npm and the index of PyPI are made of the packages. The one rule: nothing outside the
// temporary root of a kind is changed, and no other host is asked. A tool that is not there is named in the table, and a failure ends with 1.
package main
