#!/bin/sh
# Makes the root folder of an image: a program, and the libraries that the program uses on this machine.
#
#   deploy/image-root.sh dist/nodeface dist/image
set -eu
program=$1
folder=$2
mkdir -p "$folder"
cp "$program" "$folder/"
# On its own line, so that a failure of `ldd` ends the script.
libraries=$(ldd "$program")
printf '%s\n' "$libraries" | grep -o '/[^ ]*' | while read -r library; do
  mkdir -p "$folder$(dirname "$library")"
  cp -L "$library" "$folder$library"
done
# Another user runs the image, whatever the umask is.
chmod -R a+rX "$folder"
