// Package docs holds the project's pages and the tests that keep them true.
package docs
