package former

// Pair returns the index of the old entry that each new one succeeds, or -1. An old entry has one
// successor at most. The tests are applied one after the other to all entries, in the order of the
// file, and the first test that two entries pass makes them a pair.
func Pair[T any](old, new []T, tests ...func(old, new T) bool) (succeeds []int, succeeded []bool) {
	succeeds, succeeded = make([]int, len(new)), make([]bool, len(old))
	for n := range succeeds {
		succeeds[n] = -1
	}
	for _, passes := range tests {
		for n := range new {
			for o := range old {
				if succeeds[n] < 0 && !succeeded[o] && passes(old[o], new[n]) {
					succeeds[n], succeeded[o] = o, true
				}
			}
		}
	}
	return succeeds, succeeded
}
