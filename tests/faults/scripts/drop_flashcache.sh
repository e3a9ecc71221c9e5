#!/bin/sh
# Drops the flash cache of the cell on which it runs.
cellcli -e drop flashcache
