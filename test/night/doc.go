// The command night breaks two gateways behind nginx in ten ways, with a real Prometheus that has the rules of deploy/prometheus as they are,
// and prints for each fault which alert fired after how long, which commands of docs/operations.md were run, and how long it took until calls
// succeeded and the alert had ended. An alert that is late, a text that does not name the cause, a command that the page does not have, and
// a fault that the page does not mend are errors.
//
// Faults that do not touch each other happen at once; those that take a whole replica have a pair of gateways of their own.
package main
