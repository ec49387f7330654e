package main

import (
	"slices"

	"drawbridge/gateway"
)

// outcomes returns the part of load results that the filter selects, and of the indexes of operations whose calls can't work.
// An API is left out if nothing of it is selected.
func (f *filter) outcomes(all []gateway.Outcome, unusable [][]int) (some []gateway.Outcome, left [][]int, err error) {
	if len(f.patterns) == 0 {
		return all, unusable, nil
	}
	var seen []listed
	for n := range all {
		operations := listedOperations(&all[n])
		seen = append(seen, operations...)
		if !slices.ContainsFunc(operations, f.match) {
			continue
		}
		one := all[n]
		var indexes []int
		if one.Err == nil {
			one.Report = one.Report.Only(func(i int) bool { return f.match(operations[i]) })
			indexes = f.indexes(operations, unusable[n])
		}
		some, left = append(some, one), append(left, indexes)
	}
	return some, left, f.problem("check", seen)
}

// indexes returns where those of some operations that are selected are among all that are selected.
func (f *filter) indexes(operations []listed, some []int) (among []int) {
	selected := 0
	for i, op := range operations {
		if !f.match(op) {
			continue
		}
		if slices.Contains(some, i) {
			among = append(among, selected)
		}
		selected++
	}
	return among
}

// listedOperations returns what filters see of the operations of an API, by their indexes in its report. An API that can't be
// read is seen by its name alone.
func listedOperations(o *gateway.Outcome) []listed {
	if o.Err != nil {
		return []listed{{"api": {o.Name}}}
	}
	all := make([]listed, len(o.Report.Operations))
	for i, op := range o.Report.Operations {
		all[i] = listed{"name": {op.Tool, op.ID}, "api": {o.Name}, "method": {op.Method}, "path": {op.Path}}
		if i < len(o.API.Operations) {
			all[i]["tag"] = o.API.Operations[i].Tags
		}
	}
	return all
}
