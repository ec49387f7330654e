package figures

import (
	"reflect"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var printed strings.Builder
	table := NewTable(&printed)
	want := []Figure{
		{"failed calls", "0", "0 of 10", true},
		{"time of a call", "", "p50 1ms, p99 2ms", true},
		{"fetches", "1", "2", false},
	}
	table.Add(want...)
	table.Add(Figure{"calls that failed", "0", "1 of 10, the last: status 500: {\n  \"error\": 1\n}", false})
	want = append(want, Figure{"calls that failed", "0", `1 of 10, the last: status 500: { "error": 1 }`, false})
	if err := table.Err(); err == nil || err.Error() != "2 figures were missed" {
		t.Errorf("the error is %v", err)
	}
	got, err := Parse("500 calls/s\n\n" + printed.String() + "tokens: 2 figures were missed\n")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v were read of\n%s", got, err, printed.String())
	}
	if got, err := Parse("exit status 1"); err == nil {
		t.Errorf("%v were read where no table is", got)
	}
}
