// Package race tells tests whether the race detector is on: it has pools forget, and takes time and memory of its own. The one rule: what is
// not measured under it is measured without, and what is done less is done in full, by make whole.
package race
