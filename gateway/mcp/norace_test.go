//go:build !race

package mcp_test

// raceDetector tells that memory is measured with the race detector's own.
const raceDetector = false
