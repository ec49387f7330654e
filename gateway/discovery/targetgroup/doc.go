// Package targetgroup reads lists of target groups, the format of Prometheus' file_sd and http_sd, as services: what feeds
// Prometheus feeds the gateway.
//
// It hides which labels mean what, and how several groups of one service become one. The rule that must not be broken: a
// group that can't be used is reported and costs no other group its place.
package targetgroup
