package config

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

const minimalSkill = "---\nname: a\ndescription: d\n---\n"

// loadSkills loads a configuration with skills, in the working directory.
func loadSkills(t *testing.T, skills string) (*Config, Problems) {
	t.Helper()
	writeFile(t, "drawbridge.yaml", []byte("apis: [{spec: a.json, name: orders}]\nskills: "+skills+"\n"))
	return Load("drawbridge.yaml", os.Getenv)
}

// TestSkillContent: the front matter is passed on as it is written, and files with their digests.
func TestSkillContent(t *testing.T) {
	t.Chdir(t.TempDir())
	const main = "\ufeff---\r\nname: a\r\nmetadata: {version: 1.10, b: [~, \"<\"]}\r\ndescription: >\r\n  two\r\n  words\r\nallowed-tools: Bash(git:*)  orders_list\r\n---\r\n# Text\r\n"
	writeFile(t, "skills/a/SKILL.md", []byte(main))
	writeFile(t, "skills/a/data.bin", []byte{0, 255})
	writeFile(t, "skills/a/references/x y.md", []byte("x"))
	cfg, problems := loadSkills(t, "[skills]")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s := cfg.Skills[0]
	c := s.Content()
	if want := `{"name":"a","metadata":{"version":1.10,"b":[null,"\u003c"]},"description":"two words\n","allowed-tools":"Bash(git:*)  orders_list"}`; string(c.FrontMatter) != want {
		t.Errorf("the front matter is %s", c.FrontMatter)
	}
	if s.Path != "a" || c.Name != "a" || c.Description != "two words\n" || strings.Join(c.AllowedTools, "|") != "Bash(git:*)|orders_list" || string(c.Text) != "# Text\n" {
		t.Errorf("the skill is %q, %+v", s.Path, c)
	}
	var paths []string
	for _, f := range c.Files {
		if paths = append(paths, f.Path); f.SHA256 != sha256.Sum256(f.Data) {
			t.Errorf("the digest of %s is wrong", f.Path)
		}
	}
	if strings.Join(paths, "|") != "SKILL.md|data.bin|references/x y.md" || string(c.Files[0].Data) != main {
		t.Errorf("the files are %q", paths)
	}
	if at := c.At("allowed-tools").String(); !strings.HasPrefix(at, "skills/a/SKILL.md:7:16: allowed-tools: warning") {
		t.Errorf("allowed-tools is at %s", at)
	}
	if cfg.Outdated() {
		t.Error("it is outdated at once")
	}
	writeFile(t, "skills/a/references/new", nil)
	if !cfg.Outdated() {
		t.Error("a new file does not make it outdated")
	}
}

// TestHostileSkills: nothing outside of the folder is read, nothing is waited for, and no limit is passed.
func TestHostileSkills(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(dir string) error
		want string // of the only problem; "" if there is none
	}{
		{"a link to a file beside it", func(dir string) error { return os.Symlink("SKILL.md", filepath.Join(dir, "link")) }, ""},
		{"a link of a mounted ConfigMap", func(dir string) error {
			if err := os.Mkdir(filepath.Join(dir, "..data"), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, "..data", "f"), []byte("text"), 0o600); err != nil {
				return err
			}
			return os.Symlink("..data/f", filepath.Join(dir, "f"))
		}, ""},
		{"a link out of the folder", func(dir string) error { return os.Symlink("../../secret", filepath.Join(dir, "link")) },
			`"skills/a/link" is a link that leads out of the folder, or to nothing`},
		{"an absolute link", func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "link")) },
			`"skills/a/link" is a link that leads out of the folder, or to nothing`},
		{"a link to its folder", func(dir string) error { return os.Symlink("..", filepath.Join(dir, "link")) },
			`"skills/a/link" is a link, but not to a regular file`},
		{"a pipe", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600) }, `"skills/a/pipe" is not a regular file`},
		{"a link to a pipe", func(dir string) error {
			if err := syscall.Mkfifo(filepath.Join(dir, ".pipe"), 0o600); err != nil {
				return err
			}
			return os.Symlink(".pipe", filepath.Join(dir, "link"))
		}, `"skills/a/link" is a link, but not to a regular file`},
		{"a control character in a name", func(dir string) error { return os.WriteFile(filepath.Join(dir, "a\nb"), nil, 0o600) },
			`the name of the file "skills/a/a\nb" must be UTF-8 without control characters`},
		{"a name that is not UTF-8", func(dir string) error { return os.WriteFile(filepath.Join(dir, "a\xff"), nil, 0o600) },
			`must be UTF-8 without control characters`},
		{"text that is not UTF-8", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(minimalSkill+"\xff"), 0o600)
		},
			`skills/a/SKILL.md:1:1: is not UTF-8`},
		{"a large file", func(dir string) error {
			return os.Truncate(filepath.Join(dir, "SKILL.md"), maxSkillBytes+1)
		}, `the skill "skills/a" has more than 16 MiB, which is as much as every host accepts`},
		{"a large front matter", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nx: "+strings.Repeat("a", maxFrontMatter)+"\n---\n"), 0o600)
		}, `has 65544 bytes between the lines ---, more than 65536`},
		{"a deep front matter", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nx: "+strings.Repeat("[", 1000)+"\n---\n"), 0o600)
		}, `is not valid YAML: nested more than 64 levels deep`},
		{"many files", func(dir string) error {
			for i := range maxSkillFiles {
				if err := os.WriteFile(filepath.Join(dir, "f"+strings.Repeat("x", i%200)+string(rune('a'+i/200))), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		}, `the skill "skills/a" has 513 files, more than 512, which is as many as every host accepts`},
		{"a deep folder", func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", maxFolderDeep)), 0o700)
		}, `folders deep`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeFile(t, "secret", []byte("secret"))
			writeFile(t, "skills/a/SKILL.md", []byte(minimalSkill))
			if err := tt.make("skills/a"); err != nil {
				t.Skip(err) // the file system does not have it
			}
			_, problems := loadSkills(t, "[skills]")
			switch {
			case tt.want == "":
				if len(problems) > 0 {
					t.Errorf("problems: %s", problems)
				}
			case len(problems) != 1 || !strings.Contains(problems.String(), tt.want):
				t.Errorf("problems: %s\nwant one with %q", problems, tt.want)
			}
		})
	}
}

// FuzzSkillFile: a front matter that is taken is a JSON object with a name and a description by the specification.
func FuzzSkillFile(f *testing.F) {
	for _, text := range []string{minimalSkill, "---\nname: a\ndescription: d\nmetadata: {a: [1, ~, .5]}\nallowed-tools: a b\n---\ntext", "---\n---", "", "\ufeff---\r\nname: a\r\n---", "---\n&a [*a]\n---\n", "---\nname: a\n<<: {description: d}\n---\n", "---\n? [a]\n: b\n---\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l := &loader{file: "SKILL.md", verbatim: true}
		c := l.readSkillFile(data, "a")
		if l.count[Error] > 0 {
			return
		}
		if c == nil || c.Name != "a" || strings.TrimSpace(c.Description) == "" || utf8.RuneCountInString(c.Description) > maxSkillDescription {
			t.Fatalf("%q is %+v", data, c)
		}
		if !json.Valid([]byte(c.FrontMatter)) || c.FrontMatter[0] != '{' {
			t.Fatalf("%q becomes %s", data, c.FrontMatter)
		}
	})
}

// TestSkillPathsAreNoFiles: paths of skills are compared as texts, whatever folders and links the working directory has of these names.
func TestSkillPathsAreNoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "skills/one/a/SKILL.md", []byte(minimalSkill))
	writeFile(t, "skills/two/a/SKILL.md", []byte(minimalSkill))
	for _, link := range []string{"team", "other"} {
		if err := os.Symlink("skills/one", link); err != nil {
			t.Fatal(err)
		}
	}
	if cfg, problems := loadSkills(t, "[{folder: skills/one/a, path: team/a}, {folder: skills/two/a, path: other/a}]"); cfg == nil {
		t.Errorf("two paths are taken for one: %v", problems)
	}
	if cfg, problems := loadSkills(t, "[{folder: skills/one/a, path: team/a}, {folder: skills/two/a, path: team/a/a}]"); cfg != nil || !strings.Contains(problems.String(), "would have URIs below") {
		t.Errorf("a path below another: %v", problems)
	}
}

// TestSkillFolders finds the folder of each file, also beside names that begin alike.
func TestSkillFolders(t *testing.T) {
	all := skillsAmong([]string{"a-b/SKILL.md", "a.b/x", "a/SKILL.md", "a/b/SKILL.md", "c/d/SKILL.md", "c/d/e/f/SKILL.md"})
	if got := strings.Join(all, " "); got != "a a-b c/d" {
		t.Errorf("the folders are %s", got)
	}
	for name, want := range map[string]string{"a/b/SKILL.md": "a", "a-b/x": "a-b", "a.b/x": "", "a": "a", "x": "", "c/x": "", "c/d/e/f/x": "c/d"} {
		if got := all.folderOf(name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
	if whole := skillsAmong([]string{"SKILL.md", "a/SKILL.md"}); len(whole) != 1 || whole.folderOf("a/SKILL.md") != "." {
		t.Errorf("below a whole folder: %q", whole)
	}
}
