package admin

// Only returns the report of some of the operations, with the problems that concern them and with their counts. keep is called
// with the index of each operation.
func (r Report) Only(keep func(i int) bool) Report {
	of := map[int]int{} // the new index of each problem that is kept
	all := r.Operations
	problems := r.Problems
	r.Operations, r.Problems = []Operation{}, []Problem{}
	r.API.Operations, r.API.ProblemCodes, r.API.SkipCodes = OperationCounts{}, Counts{}, Counts{}
	r.API.Tools, r.API.Skipped = 0, 0
	wanted := make([]bool, len(problems))
	for i, op := range all {
		if !keep(i) {
			continue
		}
		for _, p := range op.Problems {
			wanted[p] = true
		}
	}
	for i, p := range problems {
		if wanted[i] {
			of[i] = len(r.Problems)
			r.Problems = append(r.Problems, p)
			r.API.ProblemCodes[p.Code]++
		}
	}
	for i, op := range all {
		if !keep(i) {
			continue
		}
		mine := make([]int, len(op.Problems))
		for n, p := range op.Problems {
			mine[n] = of[p]
		}
		op.Problems = mine
		r.Operations = append(r.Operations, op)
		r.API.Operations.Add(op.Fate)
		if op.Tool != "" {
			r.API.Tools++
		}
		if op.Skipped() {
			r.API.Skipped++
			if len(op.Reasons) > 0 {
				r.API.SkipCodes[op.Reasons[0].Code]++
			}
		}
	}
	r.API.Problems = len(r.Problems)
	return r
}
