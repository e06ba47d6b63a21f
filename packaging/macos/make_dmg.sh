#!/bin/sh
# The disk image for macOS around dist/app/robgui.app. Untested: written to the conventions, never run.
# Made by: python3 packaging/dev.py package (on macOS), which gives the version and has made the application before.
#
# Without a certificate the application is signed ad hoc: the first time macOS refuses it, and people allow it under
# System Settings, Privacy & Security, "Open Anyway". With ROBGUI_SIGN_AS="Developer ID Application: ..." it is signed
# for distribution, and with ROBGUI_NOTARY_PROFILE (made by: xcrun notarytool store-credentials) also notarised.
set -eu

version=${1:?"give the version: make_dmg.sh 0.1.0"}
root=$(cd "$(dirname "$0")/../.." && pwd)
app=$root/dist/app/robgui.app
image=$root/dist/robgui-$version.dmg
entitlements=$root/packaging/macos/entitlements.plist
identity=${ROBGUI_SIGN_AS:--}
stamp=--timestamp=none
[ "$identity" = - ] || stamp=--timestamp # a notarised signature needs one

codesign --force --deep --options runtime "$stamp" --entitlements "$entitlements" --sign "$identity" "$app"
codesign --verify --deep --strict "$app"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$app" "$folder/"
ln -s /Applications "$folder/Applications"
hdiutil create -volname "robgui $version" -srcfolder "$folder" -format UDZO -ov "$image"
[ "$identity" = - ] || codesign "$stamp" --sign "$identity" "$image"

if [ -n "${ROBGUI_NOTARY_PROFILE:-}" ]; then
    xcrun notarytool submit "$image" --keychain-profile "$ROBGUI_NOTARY_PROFILE" --wait
    xcrun stapler staple "$image"
fi
