package modality

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/reading/regular"
)

// maxFiles is the most that all files of one call may have together, in bytes.
const maxFiles = 16 << 20

// mediaType goes by the suffix of a path, in any case.
func mediaType(path string) (string, error) {
	if path == "" {
		return "", errors.New("must not be empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", errors.New("must not contain NUL")
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		return "image/png", nil
	case ".jpg", ".jpeg":
		return "image/jpeg", nil
	case ".gif":
		return "image/gif", nil
	case ".webp":
		return "image/webp", nil
	}
	return "", errors.New("must end with .png, .jpg, .jpeg, .gif or .webp")
}

// images reads every file, and gives each as a data URL. A file that is named twice
// counts twice.
func (q question) images() (images []state.Content, size int64, err error) {
	for i, path := range q.paths {
		raw, err := regular.Read(path, maxFiles-size)
		if err == nil && len(raw) == 0 {
			err = errEmpty
		}
		if err != nil {
			return nil, 0, unreadable(i, path, err)
		}
		size += int64(len(raw))
		images = append(images, state.Content{
			Type: state.TypeExternalRef, Modality: state.ModalityImage,
			Raw: dataURL(q.media[i], raw),
		})
	}
	return images, size, nil
}

func dataURL(media string, raw []byte) string {
	head := "data:" + media + ";base64,"
	out := make([]byte, 0, len(head)+base64.StdEncoding.EncodedLen(len(raw)))
	return string(base64.StdEncoding.AppendEncode(append(out, head...), raw))
}

var errEmpty = errors.New("the file is empty")

// unreadable words why a file cannot be taken.
func unreadable(index int, path string, err error) error {
	message := fmt.Sprintf("path[%d] %q", index, path)
	if kind, ok := errors.AsType[*regular.KindError](err); ok {
		return &tools.Failure{Message: message + " is " + kind.Kind + "; only regular files can be shown"}
	}
	if errors.Is(err, regular.ErrTooLarge) {
		return &tools.Failure{Message: fmt.Sprintf("%s brings the files above %d bytes together; ask about fewer or smaller ones", message, maxFiles)}
	}
	if errors.Is(err, errEmpty) {
		return &tools.Failure{Message: message + " is empty"}
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return &tools.Failure{Message: message + " cannot be read", Cause: errno}
	}
	return &tools.Failure{Message: message + " cannot be read: " + err.Error()}
}
