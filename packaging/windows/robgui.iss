; The installer for Windows, for Inno Setup 6.3 or newer. Untested: written to the conventions, never run.
; Made by: python packaging\dev.py package (on Windows, with Inno Setup installed), which gives the version and
; has put the application into dist\app\robgui before.

#ifndef Version
  #error Give the version: iscc /DVersion=0.1.0 packaging\windows\robgui.iss
#endif

[Setup]
; Never change the AppId: by it an update finds what is installed.
AppId={{6B0E9E4F-3D3C-4C1B-9B55-0F7C1E5D7A21}
AppName=robgui
AppVersion={#Version}
AppPublisher=robgui contributors
DefaultDirName={autopf}\robgui
DisableProgramGroupPage=yes
WizardStyle=modern
LicenseFile=..\..\LICENSE
OutputDir=..\..\dist
OutputBaseFilename=robgui-{#Version}-setup
Compression=lzma2
SolidCompression=yes
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0
; Without administrator's rights it installs for the present user only.
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ChangesAssociations=yes
ChangesEnvironment=yes
UninstallDisplayIcon={app}\robgui-gui.exe

[Tasks]
Name: desktopicon; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked
Name: path; Description: "Add robgui to the PATH, for the command line"; Flags: unchecked

[Files]
Source: "..\..\dist\app\robgui\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs

[InstallDelete]
; Files of an older version must not be found by this one.
Type: filesandordirs; Name: "{app}\_internal"

[Icons]
Name: "{autoprograms}\robgui"; Filename: "{app}\robgui-gui.exe"
Name: "{autodesktop}\robgui"; Filename: "{app}\robgui-gui.exe"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Software\Classes\.robgui"; ValueType: string; ValueData: "robgui.workspace"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.robgui\OpenWithProgids"; ValueType: string; ValueName: "robgui.workspace"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\robgui.workspace"; ValueType: string; ValueData: "robgui workspace"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\robgui.workspace\DefaultIcon"; ValueType: string; ValueData: "{app}\robgui-gui.exe,0"
Root: HKA; Subkey: "Software\Classes\robgui.workspace\shell\open\command"; ValueType: string; ValueData: """{app}\robgui-gui.exe"" gui ""%1"""
Root: HKCU; Subkey: "Environment"; ValueType: expandsz; ValueName: "Path"; ValueData: "{olddata};{app}"; Tasks: path; Check: NotInPath

[Run]
Filename: "{app}\robgui-gui.exe"; Description: "{cm:LaunchProgram,robgui}"; Flags: nowait postinstall skipifsilent

[Code]
function NotInPath: Boolean;
var
  Current: String;
begin
  if not RegQueryStringValue(HKCU, 'Environment', 'Path', Current) then
    Current := '';
  Result := Pos(';' + Uppercase(ExpandConstant('{app}')) + ';', ';' + Uppercase(Current) + ';') = 0;
end;

procedure CurUninstallStepChanged(Step: TUninstallStep);
var
  Current: String;
begin
  if (Step <> usPostUninstall) or not RegQueryStringValue(HKCU, 'Environment', 'Path', Current) then
    Exit;
  Current := ';' + Current + ';';
  if StringChangeEx(Current, ';' + ExpandConstant('{app}') + ';', ';', True) > 0 then
    RegWriteExpandStringValue(HKCU, 'Environment', 'Path', Copy(Current, 2, Length(Current) - 2));
end;
