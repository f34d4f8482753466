using System;
using System.Reflection;
using System.Runtime.InteropServices;

namespace Silverpoint
{
    // What is done before SIGTERM ends the process. .NET Core 3.1 to 9 raise ProcessExit then. Later ones have
    // PosixSignalRegistration, which is called by reflection: .NET Framework has none. On Mono the native library calls back; Mono for
    // Windows has nothing of the kind.
    internal static class Termination
    {
        private delegate void NativeCall();

        private static Action action;
        private static IDisposable registration;
        private static readonly Lazy<Func<IDisposable>> register = new Lazy<Func<IDisposable>>(MakeRegister);
        // Native code has the delegate's address.
        private static NativeCall call;

        // One action at a time. Null: none.
        internal static void Set(Action wanted)
        {
            action = wanted;
            if (Ring.IsMono)
            {
                if (wanted != null && !Native.IsOnWindows) CallBack();
            }
            else if (Environment.Version.Major >= 10)
            {
                registration?.Dispose();
                registration = wanted == null ? null : register.Value?.Invoke();
            }
        }

        // There is one call for the domain, until the domain ends. Taking it back waits for a call that runs. That call may wait for
        // locks of those who set the action.
        private static void CallBack()
        {
            if (call != null || !Native.IsThere) return;
            call = Run;
            EventHandler end = (sender, arguments) => Native.spn_do_not_call_at_sigterm(Marshal.GetFunctionPointerForDelegate(call));
            AppDomain.CurrentDomain.ProcessExit += end;
            if (!AppDomain.CurrentDomain.IsDefaultAppDomain()) AppDomain.CurrentDomain.DomainUnload += end;
            Native.spn_call_at_sigterm(Marshal.GetFunctionPointerForDelegate(call));
        }

        private static void Run()
        {
            try
            {
                action?.Invoke();
            }
            catch (Exception)
            {
                // An exception here would end the program in another way than the signal.
            }
        }

        // Null: this runtime has no such registration. (It is called for a signal that the process ignores, too. Nothing says so: the
        // runtime has a handler of its own there from its start on.)
        private static Func<IDisposable> MakeRegister()
        {
            const string Place = ", System.Runtime.InteropServices", Space = "System.Runtime.InteropServices.";
            Type context = Type.GetType(Space + "PosixSignalContext" + Place), signal = Type.GetType(Space + "PosixSignal" + Place);
            MethodInfo create = Type.GetType(Space + "PosixSignalRegistration" + Place)?.GetMethod("Create");
            if (context == null || signal == null || create == null) return null;
            PropertyInfo isCancelled = context.GetProperty("Cancel");
            Action<object> handler = given =>
            {
                // The program goes on after a signal that is cancelled.
                if (!(bool)isCancelled.GetValue(given)) Run();
            };
            Delegate typed = Delegate.CreateDelegate(typeof(Action<>).MakeGenericType(context), handler.Target, handler.Method);
            var arguments = new[] { Enum.Parse(signal, "SIGTERM"), typed };
            return () => (IDisposable)create.Invoke(null, arguments);
        }
    }
}
