package main

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRead adds up what a client's script prints, and refuses what is no line for each endpoint.
func TestRead(t *testing.T) {
	endpoints := []endpoint{{document: "a.json"}, {document: "b.json"}}
	v := vendor{name: "a client"}
	out := `{"tools":3,"converted":2,"lost":[["x","TypeError: no"]],"calls":1,"failed":[]}` + "\n" + `{"tools":0,"converted":0,"lost":[],"calls":0,"failed":[["y","no answer"]]}` + "\n"
	if err := v.read([]byte(out), endpoints); err != nil {
		t.Fatal(err)
	}
	if v.tools != 3 || v.converted != 2 || v.calls != 1 || sum(v.lost) != 2 || sum(v.failed) != 1 || v.example["TypeError: no"] != "a.json x" || v.lost["no tools are listed"] != 1 {
		t.Errorf("read %+v", v)
	}
	if err := report([]vendor{v}); err == nil {
		t.Error("lost tools are no error")
	}
	for _, bad := range []string{"", "Traceback\n", out + out} {
		if err := v.read([]byte(bad), endpoints); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
