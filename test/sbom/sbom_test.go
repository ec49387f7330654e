package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"runtime/debug"
	"testing"
	"time"
)

func TestRecognize(t *testing.T) {
	for text, want := range map[string]string{
		"  Apache License\n   Version 2.0, January 2004":                                                                "Apache-2.0",
		"MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software": "MIT",
		"Redistribution and use in source and binary forms … \n * Neither the name of Google":                           "BSD-3-Clause",
		"Redistribution and use in source\n// and binary forms, with or without modification":                           "BSD-2-Clause",
		"Mozilla Public License, version 2.0":                                                                           "MPL-2.0",
		"All rights reserved.":                                                                                          "",
	} {
		if got := recognize(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestInventory: a replaced module counts as what it was replaced by, and nothing depends on when it is written.
func TestInventory(t *testing.T) {
	info := &buildinfo.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "drawbridge"},
		Deps: []*debug.Module{
			{Path: "example.com/b", Version: "v1.0.0", Sum: "h1:b="},
			{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v2.0.0+incompatible", Sum: "h1:f="}},
		},
	}
	b := inventory(info, []byte("program"), "v1", time.Unix(0, 0), map[string]string{"example.com/fork": "MIT"})
	var refs []string
	for _, c := range b.Components {
		refs = append(refs, c.Ref)
	}
	got, err := json.Marshal([]any{refs, b.SerialNumber, b.Metadata.Timestamp, b.Metadata.Component.Ref, b.Components[1].Licenses, b.Dependencies[0]})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[["pkg:golang/example.com/b@v1.0.0","pkg:golang/example.com/fork@v2.0.0%2Bincompatible","pkg:golang/std@1.26.8"],` +
		`"urn:uuid:1310ca2c-8932-8bd1-9866-8bd97442558a","1970-01-01T00:00:00Z","pkg:golang/drawbridge@v1",[{"license":{"id":"MIT"}}],` +
		`{"ref":"pkg:golang/drawbridge@v1","dependsOn":["pkg:golang/example.com/b@v1.0.0","pkg:golang/example.com/fork@v2.0.0%2Bincompatible","pkg:golang/std@1.26.8"]}]`
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if sum := sha256.Sum256([]byte("program")); serial(sum) != b.SerialNumber {
		t.Error("the serial number is not that of the binary")
	}
}
