package race

// Fewer is how many rounds, or how much of something, a test takes: all of them, or few with the race detector, under which each costs
// several times as much and finds no other fault of the same kind. `make whole` runs every test that calls it without the detector, and
// so in full.
func Fewer(all, few int) int {
	if Enabled {
		return few
	}
	return all
}
