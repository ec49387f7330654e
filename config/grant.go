package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
)

// grant is what the text of an included file may refer to; "" stands for nothing.
type grant struct{ envPrefix, folder string }

// notGranted is the error of a variable or file that an included file may not use.
type notGranted string

func (n notGranted) Error() string { return string(n) }

// checkGranted returns an error unless a path is granted to the included file that is read. Links must not lead out of the folder.
func (l *loader) checkGranted(path resolver) error {
	text := fmt.Sprint(reflect.ValueOf(path).Elem())
	if l.granted == nil || isURL(text) {
		return nil
	}
	name, err := l.granted.nameBelow(text)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(l.granted.folder)
	if err != nil {
		return fmt.Errorf("can't be read: the folder %q: %s", l.granted.folder, reason(err))
	}
	defer func() { _ = root.Close() }() // nothing was written
	if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("can't be used: %s", reason(err))
	}
	return nil
}

// nameBelow returns the path of a file relative to the folder that is granted, and an error if it is not below the folder.
func (g *grant) nameBelow(path string) (string, error) {
	if g.folder == "" {
		return "", notGranted("is not granted to this file: its entry of include has no folder")
	}
	name, err := filepath.Rel(g.folder, path)
	if err != nil || !filepath.IsLocal(name) {
		return "", notGranted(fmt.Sprintf("is not granted to this file: it must be in the folder %q", g.folder))
	}
	return name, nil
}

// open opens a file of the folder to read it. Links must not lead out of the folder.
func (g *grant) open(path string) (*os.File, error) {
	name, err := g.nameBelow(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(g.folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// allowsVariable returns an error unless an environment variable is granted.
func (g *grant) allowsVariable(name string) error {
	switch {
	case g.envPrefix == "":
		return errors.New("the environment variable is not granted to this file: its entry of include has no env_prefix")
	case !strings.HasPrefix(name, g.envPrefix):
		return fmt.Errorf("the environment variable is not granted to this file: its name must begin with %s", g.envPrefix)
	}
	return nil
}
