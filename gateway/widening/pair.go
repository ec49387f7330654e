package widening

// Pair tells which of the old entries each new one succeeds, by its place; -1: none. An entry has one successor at most. The tests are tried one after the
// other for all entries, in the order of the file, and the first that two entries pass makes them a pair.
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
