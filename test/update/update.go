// Package update has the flag -update of tests, for packages whose tests share it.
//
// The one rule: a test with the flag writes what the code does into its files of expectations, and checks nothing else.
package update

import "flag"

// Expected tells a test to write what the code does into its files of expectations (go test PACKAGE -update).
var Expected = flag.Bool("update", false, "write what the code does into the files of expectations")
