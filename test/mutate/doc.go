// Command mutate asks whether the tests would notice: it changes the checks of tokens, the credentials of services, the building of
// requests, the reading of plain requests, the dial guard and the connections of calls in many small ways, one at a time, and runs the
// tests that reach the change. A change that no test notices has survived.
//
// All changes of a package are compiled into one test binary, each asleep behind its number, and MUTANT=n wakes one. A first
// run of each test alone tells which changes it reaches, so that a change is held against those tests only.
//
// The one rule: an asleep change must not change what the program does. Tests that fail before any change is awake (those that count
// allocations) are not asked, and named.
package main
