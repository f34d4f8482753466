//! The user of this process: what belongs to him, and directories for him alone.

use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;

use windows_sys::Win32::Foundation::{HANDLE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{
    EqualSid, GetKernelObjectSecurity, GetSecurityDescriptorOwner, GetTokenInformation,
    OWNER_SECURITY_INFORMATION, PSID, SECURITY_ATTRIBUTES, TOKEN_QUERY, TokenOwner, TokenUser,
};
use windows_sys::Win32::Storage::FileSystem::CreateDirectoryW;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::files::{AsDescriptor, handle_of};

/// Room for an answer, which begins with a pointer to an identifier behind it.
type Answer = [u64; 64];

fn token() -> io::Result<OwnedHandle> {
    let mut opened: HANDLE = std::ptr::null_mut();
    // SAFETY: it writes one handle, which is this caller's.
    unsafe {
        if OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut opened) == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedHandle::from_raw_handle(opened.cast()))
    }
}

/// Whether its owner is the user, or who owns what the user makes (a group of administrators).
pub(super) fn owns(file: impl AsDescriptor) -> io::Result<bool> {
    let mut descriptor: Answer = [0; 64];
    let (mut owner, mut needed, mut is_default): (PSID, u32, i32) = (std::ptr::null_mut(), 0, 0);
    let room = size_of::<Answer>() as u32;
    let begin = descriptor.as_mut_ptr().cast();
    // SAFETY: there is as much room as it says, aligned for any structure of Windows; the owner lies within.
    let known = unsafe {
        GetKernelObjectSecurity(handle_of(&file), OWNER_SECURITY_INFORMATION, begin, room, &raw mut needed)
            != 0
            && GetSecurityDescriptorOwner(begin, &raw mut owner, &raw mut is_default) != 0
    };
    if !known {
        return Err(io::Error::last_os_error());
    }
    if owner.is_null() {
        return Ok(false);
    }
    let token = token()?;
    for which in [TokenUser, TokenOwner] {
        let mut answer: Answer = [0; 64];
        let begin = answer.as_mut_ptr();
        // SAFETY: as above: TOKEN_USER and TOKEN_OWNER begin with a pointer to an identifier, which lies behind it.
        let is_it = unsafe {
            let handle = token.as_raw_handle().cast();
            GetTokenInformation(handle, which, begin.cast(), room, &raw mut needed) != 0
                && EqualSid(*begin.cast::<PSID>(), owner) != 0
        };
        if is_it {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The user's identifier as text.
fn identifier() -> io::Result<String> {
    let token = token()?;
    let mut answer: Answer = [0; 64];
    let (mut needed, mut text) = (0, std::ptr::null_mut());
    let (begin, room) = (answer.as_mut_ptr(), size_of::<Answer>() as u32);
    // SAFETY: as in `owns`; the text ends with a zero, and is given back once.
    unsafe {
        let handle = token.as_raw_handle().cast();
        if GetTokenInformation(handle, TokenUser, begin.cast(), room, &raw mut needed) == 0
            || ConvertSidToStringSidW(*begin.cast::<PSID>(), &raw mut text) == 0
        {
            return Err(io::Error::last_os_error());
        }
        let units = (0..).take_while(|unit| *text.add(*unit) != 0).count();
        let found = String::from_utf16_lossy(std::slice::from_raw_parts(text, units));
        LocalFree(text.cast());
        Ok(found)
    }
}

/// Makes a directory to which, and to what will be in it, this user alone has access. What its parent would add is
/// left out.
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    let user = identifier()?;
    let ended = |text: &mut dyn Iterator<Item = u16>| text.chain([0]).collect::<Vec<u16>>();
    let rule = ended(&mut format!("O:{user}D:P(A;OICI;FA;;;{user})").encode_utf16());
    let path = ended(&mut path.as_os_str().encode_wide());
    let mut descriptor = std::ptr::null_mut();
    // SAFETY: both texts end with a zero; the descriptor is given back once, after its only use.
    unsafe {
        let made = ConvertStringSecurityDescriptorToSecurityDescriptorW(
            rule.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            std::ptr::null_mut(),
        );
        if made == 0 {
            return Err(io::Error::last_os_error());
        }
        let attributes = SECURITY_ATTRIBUTES {
            nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
            lpSecurityDescriptor: descriptor,
            bInheritHandle: 0,
        };
        let made = CreateDirectoryW(path.as_ptr(), &raw const attributes);
        let error = io::Error::last_os_error();
        LocalFree(descriptor);
        if made == 0 { Err(error) } else { Ok(()) }
    }
}
