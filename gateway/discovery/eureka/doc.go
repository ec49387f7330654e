// Package eureka finds services in the applications of a Eureka server.
//
// It hides the form of the answers, how often they are asked for, and what is kept after an outage, when a server that was
// restarted knows only the instances that have registered again. It reads the whole list each time: a change of /apps/delta is
// offered for three minutes only and has to be checked against a hash of counts, and a list that does not fit has to be read as
// a whole anyway.
//
// The rule that must not be broken: only instances with the status UP are called, and the password is sent to the server alone
// and is in no error.
package eureka
