package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sentences that a licence has and none of those above it, in the order in which they are looked for.
var sentences = []struct{ id, text string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD-3-Clause", "neither the name of"},
	{"BSD-3-Clause", "neither name of copyright holders"},
	{"BSD-3-Clause", "may not be used to endorse or promote products"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms"},
}

// recognize returns the SPDX identifier of a licence's text, or "".
func recognize(text string) string {
	plain := strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t\r\n*#/", r) }), " ")
	plain = strings.ReplaceAll(plain, "license, version", "license version")
	i := slices.IndexFunc(sentences, func(s struct{ id, text string }) bool { return strings.Contains(plain, s.text) })
	if i < 0 {
		return ""
	}
	return sentences[i].id
}

// licenseOf returns the licence of the module in a folder, or "" when none is found that is known.
func licenseOf(dir string) string {
	files, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if f.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(dir, f.Name())); err == nil {
			if id := recognize(string(text)); id != "" {
				return id
			}
		}
	}
	return ""
}
